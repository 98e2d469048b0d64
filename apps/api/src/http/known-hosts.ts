import { readKnownHosts } from '@muster/core/connections'
import type { TokenEndpoint } from './token-endpoint.ts'

/** `GET /api/known_hosts?limit=…`: approved host keys of nodes and their bastions, as OpenSSH's known_hosts file. */
export const knownHostsEndpoint: TokenEndpoint = {
  name: 'known hosts',
  contentType: 'text/plain; charset=utf-8',
  read: (ctx, params) => readKnownHosts(ctx, params.get('limit')),
}
