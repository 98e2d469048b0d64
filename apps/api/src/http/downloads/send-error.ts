import type { ServerResponse } from 'node:http'

/** Sends an error as plain text. */
export function sendError(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
