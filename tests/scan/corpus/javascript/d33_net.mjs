import { request as ask } from 'node:https';
import * as dgram from 'dgram';
import net from 'net';
ask('https://drop.example.net/x', r => r.resume()); // FIND: javascript.network
dgram.createSocket('udp4'); // FIND: javascript.network
net.connect(4444, '198.51.100.9'); // FIND: javascript.network
const w = new WebSocket('wss://drop.example.net'); // FIND: javascript.network
navigator.sendBeacon('https://drop.example.net/b', 'x'); // FIND: javascript.network
