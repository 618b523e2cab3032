"""Data files in, model files in and out; whatever is written appears whole or not at all."""

from hullrank.io.atomic import replacing
from hullrank.io.encoder import TableEncoder
from hullrank.io.model_file import ModelFile, load, read_model, save
from hullrank.io.onnx_export import export_onnx
from hullrank.io.tables import SparseTable, read_table

__all__ = [
    "ModelFile",
    "SparseTable",
    "TableEncoder",
    "export_onnx",
    "load",
    "read_model",
    "read_table",
    "replacing",
    "save",
]
