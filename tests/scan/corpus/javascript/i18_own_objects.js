const net = { connect: (to) => to };
const fetch = (key) => net.connect(key);
const axios = { get: fetch };
fetch("https://www.example.org/");
axios.get("https://www.example.org/");
