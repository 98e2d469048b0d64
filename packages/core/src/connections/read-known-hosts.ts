import { and, isNotNull } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { selectNodes } from '../selection/index.ts'

/**
 * Returns the approved host keys of nodes reached over SSH and of all bastions as lines of an OpenSSH known_hosts file (sshd(8)).
 * The address is `host` for port 22 and `[host]:port` otherwise. Nodes without an approved key are absent, so that ssh rejects
 * them.
 * @param limit same grammar as for runs; null: all nodes
 * @throws InvalidInput at limit
 */
export async function readKnownHosts(ctx: Ctx, limit: string | null = null): Promise<string> {
  const nodes = (await selectNodes(ctx, limit ?? 'all')).filter((node) => node.connectionType === 'ssh')
  const bastions = await ctx.db
    .select({ host: credentials.host, port: credentials.port, hostKey: credentials.hostKey })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), isNotNull(credentials.hostKey), isNotNull(credentials.hostKeyApprovedAt)))
  const lines = [...bastions, ...nodes].flatMap(({ host, port, hostKey }) => {
    if (!host || !hostKey) return []
    return [`${(port ?? 22) === 22 ? host : `[${host}]:${port}`} ${hostKey}\n`]
  })
  return [...new Set(lines)].sort().join('')
}
