import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface FolderServer {
  /** `http://ADDRESS:PORT`, without a trailing slash. */
  url: string
  /** Requested paths in order, with the response status. */
  requests: { path: string; status: number }[]
  close(): Promise<void>
}

/** Serves a folder over HTTP, for example as a package repository. Lab nodes reach it on `lab.hostAddress`. */
export async function serveFolder(folder: string, address: string): Promise<FolderServer> {
  const requests: FolderServer['requests'] = []
  const server = createServer((request, response) => {
    // URL parsing removes "/../", so the path stays inside the folder.
    const requested = decodeURIComponent(new URL(request.url ?? '/', 'http://lab').pathname)
    const file = path.join(folder, requested)
    const stat = statSync(file, { throwIfNoEntry: false })
    const status = stat?.isFile() ? 200 : 404
    requests.push({ path: requested, status })
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
