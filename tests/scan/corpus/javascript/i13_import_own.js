import { exec } from "./machine.js";
import { fetch as take } from "./store.js";
exec("turn");
take("box");
