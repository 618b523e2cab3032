"""Data files in, model files in and out; whatever is written appears whole or not at all.

Names are loaded when they are first used: reading a table needs no scikit-learn, which takes a second to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hullrank.io.atomic import replacing
    from hullrank.io.blocks import Blocks
    from hullrank.io.encoder import TableEncoder
    from hullrank.io.forms import recognise
    from hullrank.io.model_file import ModelFile, load, read_model, save
    from hullrank.io.onnx_export import export_onnx
    from hullrank.io.tables import SparseTable, read_table

__all__ = [
    "Blocks",
    "ModelFile",
    "SparseTable",
    "TableEncoder",
    "export_onnx",
    "load",
    "read_model",
    "read_table",
    "recognise",
    "replacing",
    "save",
]
_HOME = {
    "Blocks": "blocks",
    "ModelFile": "model_file",
    "SparseTable": "tables",
    "TableEncoder": "encoder",
    "export_onnx": "onnx_export",
    "load": "model_file",
    "read_model": "model_file",
    "read_table": "tables",
    "recognise": "forms",
    "replacing": "atomic",
    "save": "model_file",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"hullrank.io.{_HOME[name]}"), name)
    raise AttributeError(f"module 'hullrank.io' has no attribute {name!r}")
