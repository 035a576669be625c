import { exec } from "./machine";
import { request } from "./store";
exec("turn");
request("box");
