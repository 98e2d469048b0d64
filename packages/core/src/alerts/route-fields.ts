import { z } from 'zod'
import { Host, Port } from '../kernel/address.ts'
import type { Ctx } from '../kernel/context.ts'
import type { InputIssue } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { endpointOf } from '../kernel/outbound/index.ts'
import { Matcher } from './matcher.ts'
import { type AlertRoute, ROUTE_SECRETS, type RouteKind, type RouteSettings, SMTP_SECURITIES } from './tables.ts'

/** The URL of a hook. Its path or query may be secret, so the whole URL is encrypted. */
const HookUrl = z
  .string()
  .trim()
  .max(2000)
  .transform((text, ctx) => {
    const url = URL.parse(text)
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash) return url.href
    ctx.addIssue({ code: 'custom', message: 'must look like https://hooks.example.org/…, without a name, password or #' })
    return z.NEVER
  })

type TargetFields = { url?: string | null | undefined; host?: string | null | undefined; port?: number | null | undefined }

/** The servers that the given fields name. */
export const routeTargets = ({ url, host, port }: TargetFields) => [
  ...(url ? [{ path: 'url', ...endpointOf(new URL(url)) }] : []),
  ...(host ? [{ path: 'host', host, port: port ?? null }] : []),
]

export const ROUTE_FIELDS = {
  name: singleLineText(100),
  /** Hooks. */
  url: HookUrl.nullish(),
  secret: z
    .string()
    .min(8, 'must have at least 8 characters')
    .max(1024)
    .refine((text) => !/[\0\r\n]/.test(text), 'must be one line')
    .nullish(),
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

const ALLOWED: Record<RouteKind, { must: (keyof Fields)[]; may: (keyof Fields)[] }> = {
  webhook: { must: ['url', 'secret'], may: [] },
  email: { must: ['host', 'from', 'to'], may: ['port', 'security', 'username', 'secret'] },
  slack: { must: ['url'], may: [] },
  dingtalk: { must: ['url'], may: ['secret'] },
  feishu: { must: ['url'], may: ['secret'] },
  wecom: { must: ['url'], may: [] },
}
const OWN = [...new Set(Object.values(ALLOWED).flatMap(({ must, may }) => [...must, ...may]))]
const isGiven = (value: unknown) => value != null && (!Array.isArray(value) || value.length > 0)

/** Issues of fields that do not belong to the route's kind or are missing. */
export function routeIssues(kind: RouteKind, fields: Partial<Fields>): InputIssue[] {
  const { must, may } = ALLOWED[kind]
  const issues = OWN.flatMap((path): InputIssue[] => {
    if (must.includes(path)) return isGiven(fields[path]) ? [] : [{ path, message: `is required for ${kind}` }]
    return may.includes(path) || !isGiven(fields[path]) ? [] : [{ path, message: `is not used by ${kind}` }]
  })
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
