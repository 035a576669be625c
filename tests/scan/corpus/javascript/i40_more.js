import { exec } from './runner.js';
import { eval as evaluate } from 'mathjs';
exec('id');
evaluate('1 + 1');
const db = { exec: sql => sql, fetch() { return []; } };
db.exec('select 1');
db.fetch();
const vm = { runInThisContext: x => x };
vm.runInThisContext('1');
export function spawn(n) { return new Array(n); }
spawn(3);
