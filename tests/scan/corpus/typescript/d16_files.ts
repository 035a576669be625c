import { promises as fsp, unlinkSync } from "fs";
import { readFile } from "fs/promises";
unlinkSync("../../x"); // FIND: javascript.outside-file
readFile("~/.aws/credentials"); // FIND: javascript.outside-file
fsp.readFile("data.txt");
