import type { ServerResponse } from 'node:http'

/** An answer in words for people. */
export function refuse(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
