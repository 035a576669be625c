const path = require('path');
const util = require('node:util');
const own = require('./child_process');
const fs = require('fs');
own.exec('id');
fs.writeFileSync(path.join(__dirname, 'out.json'), JSON.stringify({ a: 1 }));
console.log(util.inspect({ url: 'https://example.org/docs' }));
