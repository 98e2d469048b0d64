import { z } from 'zod'
import { Host, Port } from '../kernel/address.ts'
import type { Ctx } from '../kernel/context.ts'
import type { InputIssue } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { type KindFields, kindIssues } from '../kernel/kind-fields.ts'
import { HookSecret, HookUrl } from '../kernel/outbound/index.ts'
import { Matcher } from './matcher.ts'
import { type AlertRoute, ROUTE_SECRETS, type RouteKind, type RouteSettings, SMTP_SECURITIES } from './tables.ts'

export const ROUTE_FIELDS = {
  name: singleLineText(100),
  /** Hooks. */
  url: HookUrl.nullish(),
  secret: HookSecret.nullish(),
  /** E-mail. */
  host: Host.nullish(),
  port: Port.nullish(),
  security: z.enum(SMTP_SECURITIES).nullish(),
  username: singleLineText(200).nullish(),
  from: z.email().nullish(),
  to: z.array(z.email()).max(50, 'at most 50').nullish(),
  matcher: Matcher.nullish(),
  isEnabled: z.boolean().nullish(),
  notifyOnResolve: z.boolean().nullish(),
}
type Fields = z.output<z.ZodObject<typeof ROUTE_FIELDS>>

const ALLOWED: Record<RouteKind, KindFields<keyof Fields>> = {
  webhook: { must: ['url', 'secret'], may: [] },
  email: { must: ['host', 'from', 'to'], may: ['port', 'security', 'username', 'secret'] },
  slack: { must: ['url'], may: [] },
  dingtalk: { must: ['url'], may: ['secret'] },
  feishu: { must: ['url'], may: ['secret'] },
  wecom: { must: ['url'], may: [] },
}
const isGiven = (value: unknown) => value != null

/** Issues of fields that do not belong to the route's kind or are missing. */
export function routeIssues(kind: RouteKind, fields: Partial<Fields>): InputIssue[] {
  const issues = kindIssues(kind, ALLOWED, fields)
  if (kind === 'email' && isGiven(fields.username) !== isGiven(fields.secret))
    issues.push({ path: 'secret', message: 'is the password for the username; provide both or neither' })
  if (kind === 'email' && fields.security === 'none' && isGiven(fields.username))
    issues.push({ path: 'security', message: 'must be tls or starttls when a password is set' })
  return issues
}

const PORTS = { tls: 465, starttls: 587, none: 25 }

/** The non-secret settings for storage. */
export function routeSettings(kind: RouteKind, fields: Partial<Fields>, origin: string | undefined): RouteSettings {
  if (kind !== 'email') return origin ? { origin } : {}
  const security = fields.security ?? 'starttls'
  return {
    host: fields.host!,
    port: fields.port ?? PORTS[security],
    security,
    from: fields.from!,
    to: fields.to!,
    ...(fields.username ? { username: fields.username } : {}),
  }
}

/** Encrypts the secret fields. */
export async function encryptRouteSecrets(ctx: Ctx, routeId: string, fields: Partial<Fields>): Promise<AlertRoute['encrypted']> {
  const encrypted: AlertRoute['encrypted'] = {}
  for (const field of ROUTE_SECRETS)
    if (fields[field] != null)
      encrypted[field] = await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: routeId, field }, fields[field])
  return encrypted
}
