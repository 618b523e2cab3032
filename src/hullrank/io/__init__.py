"""Data files in, model files in and out; whatever is written appears whole or not at all."""

from hullrank.io.atomic import replacing
from hullrank.io.encoder import TableEncoder
from hullrank.io.model_file import ModelFile, load, read_model, save
from hullrank.io.tables import SparseTable, read_table

__all__ = ["ModelFile", "SparseTable", "TableEncoder", "load", "read_model", "read_table", "replacing", "save"]
