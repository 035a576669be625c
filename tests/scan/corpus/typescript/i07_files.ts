import * as fs from "fs";
import { join } from "path";
fs.writeFileSync(join("out", "a.json"), JSON.stringify({ a: 1 }));
fs.readFileSync("data/x.csv", "utf8");
