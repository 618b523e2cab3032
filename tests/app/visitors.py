"""Somebody who uses the page, without a network: requests go to the application in this process."""

import json
from pathlib import Path

TABLES = Path(__file__).parents[2] / "src/hullrank/datasets/tables"
WINE = (TABLES / "wine.csv").read_bytes()
TOKEN, PORT = "secret-token", 8765
HERE = f"http://127.0.0.1:{PORT}"


class Visitor:
    """Somebody with a session of his own."""

    def __init__(self, client):
        self.client = client
        entered = client.get(f"/{TOKEN}/", follow_redirects=False)
        assert entered.status_code == 303
        self.path = f"/{TOKEN}/{entered.headers['location']}"

    def get(self, path, **options):
        return self.client.get(self.path + path, **options)

    def post(self, path, **options):
        return self.client.post(self.path + path, **options)

    @property
    def session(self):
        """What the server holds for this visitor."""
        return self.client.app.state.sessions.get(self.path.split("/")[-2])

    def send(self, name, content):
        return self.post("table", params={"name": name}, content=content)

    def events(self, number, **options):
        """All events of a job, when it has ended."""
        answer = self.get(f"jobs/{number}", **options)
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]

    def work(self, kind, **wishes):
        """Start a job, wait for its end, and give its events."""
        answer = self.post(kind, content=json.dumps(wishes))
        assert answer.status_code == 202, answer.text
        return self.events(answer.json()["job"])
