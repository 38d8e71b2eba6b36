"""kmodel files, version 3: layers, registers and tables, read and written."""
