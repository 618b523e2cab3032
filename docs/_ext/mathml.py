"""Formulas as MathML, which browsers draw themselves: no script, no font and no network is needed to read them."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name that ``conf.py`` chooses."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
