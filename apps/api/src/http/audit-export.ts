import { auditLogAudit, exportAuditRecords, recordAttempt } from '@muster/core/audit'
import { InvalidInput } from '@muster/core/errors'
import type { TokenEndpoint } from './token-endpoint.ts'

/**
 * `GET /api/audit?after=SEQ`: sealed rows of the audit log and checkpoints as JSON lines, in the order of the chain. With
 * `scope=installation`, those of the installation.
 */
export const auditExportEndpoint: TokenEndpoint = {
  name: 'audit log',
  contentType: 'application/x-ndjson',
  action: auditLogAudit.export,
  async read(ctx, params) {
    const after = Number(params.get('after') ?? 0)
    if (!Number.isSafeInteger(after) || after < 0)
      throw new InvalidInput([{ path: 'after', message: 'must be a position in the chain' }])
    const ofInstallation = params.get('scope') === 'installation'
    const records = exportAuditRecords(ctx, { after, installation: ofInstallation ? ctx.systemDb : undefined })
    // The first record is read before the response starts, so that errors still get a status code.
    const first = await records.next()
    await recordAttempt(ctx, { action: auditLogAudit.export, outcome: 'succeeded', details: { after, ofInstallation } })
    return (async function* lines() {
      if (!first.done) yield `${JSON.stringify(first.value)}\n`
      for await (const record of records) yield `${JSON.stringify(record)}\n`
    })()
  },
}
