// A separate process: `node http-limit.ts PORT` answers every request with the same 1,000 bytes from memory: the most that an HTTP server
// of Node can do on this machine.
import { createServer } from 'node:http'

const body = 'x'.repeat(1000)
createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length }).end(body)
}).listen(Number(process.argv[2]), '127.0.0.1', 4096)
