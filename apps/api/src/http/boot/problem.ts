import type { ServerResponse } from 'node:http'

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** Sends an error as problem details (RFC 9457), like BSS. */
export function sendProblem(res: ServerResponse, status: number, detail: string, headers: Record<string, string> = {}): void {
  const body = { type: 'about:blank', title: TITLES[status] ?? 'Error', status, detail }
  res.writeHead(status, { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers })
  res.end(`${JSON.stringify(body)}\n`)
}
