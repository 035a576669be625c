import { readFileSync as read, promises } from 'fs';
import { homedir } from 'os';
import path from 'path';
read('/etc/shadow'); // FIND: javascript.outside-file
await promises.readFile('/proc/self/environ'); // FIND: javascript.outside-file
read(path.join(homedir(), '.npmrc')); // FIND: javascript.outside-file
