drawReport(document.querySelector("main"), JSON.parse(document.getElementById("facts").textContent));
