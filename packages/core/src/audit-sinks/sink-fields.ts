import { z } from 'zod'
import { Host, Port } from '../kernel/address.ts'
import type { Ctx } from '../kernel/context.ts'
import type { InputIssue } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { type KindFields, kindIssues } from '../kernel/kind-fields.ts'
import { CaCertificate, HookSecret, HookUrl } from '../kernel/outbound/index.ts'
import { type AuditSink, SINK_SECRETS, type SinkKind, type SinkSettings } from './tables.ts'

/** Port of syslog over TLS, RFC 5425. */
const SYSLOG_TLS_PORT = 6514

export const SINK_FIELDS = {
  name: singleLineText(100),
  /** Webhook. */
  url: HookUrl.nullish(),
  secret: HookSecret.nullish(),
  authorization: HookSecret.refine((text) => /^[\x20-\x7e]+$/.test(text), 'must consist of printable ASCII characters').nullish(),
  /** Syslog. */
  host: Host.nullish(),
  port: Port.nullish(),
  caCertificate: CaCertificate.nullish(),
  isEnabled: z.boolean().nullish(),
}
export type SinkFields = z.output<z.ZodObject<typeof SINK_FIELDS>>

const ALLOWED: Record<SinkKind, KindFields<keyof SinkFields>> = {
  webhook: { must: ['url', 'secret'], may: ['authorization'] },
  syslog: { must: ['host'], may: ['port', 'caCertificate'] },
}

/** Issues of fields that do not belong to the sink's kind or are missing. */
export const sinkIssues = (kind: SinkKind, fields: Partial<SinkFields>): InputIssue[] => kindIssues(kind, ALLOWED, fields)

/** The non-secret settings for storage. */
export const sinkSettings = (kind: SinkKind, fields: Partial<SinkFields>, origin: string | undefined): SinkSettings =>
  kind === 'webhook'
    ? { ...(origin ? { origin } : {}) }
    : {
        host: fields.host!,
        port: fields.port ?? SYSLOG_TLS_PORT,
        ...(fields.caCertificate ? { caCertificate: fields.caCertificate } : {}),
      }

/** Encrypts the secret fields. */
export async function encryptSinkSecrets(ctx: Ctx, sinkId: string, fields: Partial<SinkFields>): Promise<AuditSink['encrypted']> {
  const encrypted: AuditSink['encrypted'] = {}
  for (const field of SINK_SECRETS)
    if (fields[field] != null)
      encrypted[field] = await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: sinkId, field }, fields[field])
  return encrypted
}
