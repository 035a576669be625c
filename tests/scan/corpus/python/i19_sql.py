import sqlite3

db = sqlite3.connect("results.db")
db.execute("create table t (a)")
db.executemany("insert into t values (?)", [(1,), (2,)])
