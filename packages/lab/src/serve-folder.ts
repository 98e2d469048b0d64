import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface FolderServer {
  /** `http://ADDRESS:PORT`, without a slash at the end. */
  url: string
  /** Paths that were asked for, in order, with the answer's status. */
  requests: { path: string; status: number }[]
  close(): Promise<void>
}

/** Serves the files of a folder over HTTP, for example as the package repository of a lab: on `lab.hostAddress` its nodes reach it. */
export async function serveFolder(folder: string, address: string): Promise<FolderServer> {
  const requests: FolderServer['requests'] = []
  const server = createServer((request, response) => {
    // Parsed as a URL, "/../" cannot lead out.
    const wanted = decodeURIComponent(new URL(request.url ?? '/', 'http://lab').pathname)
    const file = path.join(folder, wanted)
    const stat = statSync(file, { throwIfNoEntry: false })
    const status = stat?.isFile() ? 200 : 404
    requests.push({ path: wanted, status })
    response.writeHead(status, status === 200 ? { 'content-length': stat!.size } : {})
    if (status === 404 || request.method === 'HEAD') response.end()
    else pipeline(createReadStream(file), response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve))
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
