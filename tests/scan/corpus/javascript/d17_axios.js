import axios from "axios";
import WebSocket from "ws";
axios.post("https://hooks.example.com/x", {}); // FIND: javascript.network
const w = new WebSocket("wss://live.example.com/"); // FIND: javascript.network
w.close();
