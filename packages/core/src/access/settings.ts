import { z } from 'zod'
import { pathSetting, portSetting } from '../kernel/config.ts'
import { groupRolesSetting } from './sign-in/group-roles.ts'

/** Address of the API, and sign-in. */
export const accessSettings = {
  /** Address and port on which the API listens. */
  HOST: z.string().default('127.0.0.1'),
  PORT: portSetting.default(4000),
  /** Address and port on which the API serves /metrics. Without a port it does not. */
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: portSetting.optional(),
  /** Requests for /metrics need this bearer token. Without it, workers serve no metrics. */
  METRICS_TOKEN_FILE: pathSetting.optional(),
  /** 1: X-Forwarded-For names the client, for limits, tokens and the audit log. Only a trusted proxy may reach the API, or know the secret. */
  TRUST_PROXY: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
  /** With TRUST_PROXY, only requests with this secret in x-muster-proxy-secret are trusted. */
  PROXY_SECRET_FILE: pathSetting.optional(),
  /** Comma-separated origins of other sites. Their pages may call /graphql with an API token. */
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((origin) => origin.trim())
        .filter(Boolean),
    )
    .refine(
      (origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
      'must be origins, such as https://portal.example.com, separated by commas',
    ),
  /** The address that users open; links and cookies use it. */
  MUSTER_PUBLIC_URL: z.url().default('http://localhost:3000'),
  /** A session ends after this many hours without a request, and at the latest after this many days. */
  SESSION_IDLE_HOURS: z.coerce
    .number()
    .positive()
    .max(24 * 365)
    .default(24),
  SESSION_MAX_DAYS: z.coerce.number().positive().max(365).default(14),
  MUSTER_OWNER_EMAIL: z.email().default('owner@muster.local'),
  MUSTER_TENANT_NAME: z.string().min(1).default('Default'),
  /** Signs session cookies. Derived from the master password when unset. */
  AUTH_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
} as const

/** Mail server for invitations and password resets. Without SMTP_URL, Muster shows links instead of sending them. */
export const mailSettings = {
  /** Protocol smtps: TLS; smtp: STARTTLS is required; smtp+plain: no encryption, for a server on this machine or link. */
  SMTP_URL: z
    .string()
    .refine(
      (text) => URL.canParse(text) && /^(smtps?|smtp\+plain):\/\/[^/?#]+\/?$/.test(text),
      'must look like smtp://user@mail.example.com:587 or smtps://user@mail.example.com',
    )
    .refine((text) => !URL.canParse(text) || !new URL(text).password, 'must contain no password; set SMTP_PASSWORD_FILE')
    .optional(),
  SMTP_PASSWORD_FILE: pathSetting.optional(),
  /** Sender address. Default: muster@ and the host name of MUSTER_PUBLIC_URL. */
  MAIL_FROM: z.email().optional(),
} as const

/** Limit of API tokens. */
export const tokenSettings = {
  /** Longest lifetime of an API token in days. */
  API_TOKEN_MAX_DAYS: z.coerce.number().int().min(1).max(3650).default(365),
} as const

/** Sign-in through an OpenID Connect provider. Without OIDC_ISSUER there is none. */
export const oidcSettings = {
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/ })
    .refine(
      (text) => text.startsWith('https:') || /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(`${text}/`),
      'must start with https://, except on this machine',
    )
    .optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET_FILE: pathSetting.optional(),
  /** Name of the provider on the sign-in page. Default: its host name. */
  OIDC_NAME: z.string().max(60).optional(),
  OIDC_SCOPES: z.string().default('openid profile email'),
  /** Claim with the user's groups; dots separate the names of nested objects. */
  OIDC_GROUPS_CLAIM: z.string().default('groups'),
  OIDC_ROLES: groupRolesSetting,
} as const

/** Sign-in with the password of an LDAP directory. Without LDAP_URL there is none. */
export const ldapSettings = {
  /** ldaps: TLS; ldap: STARTTLS is required. */
  LDAP_URL: z
    .string()
    .regex(/^ldaps?:\/\/[^/?#@\s]+\/?$/, 'must look like ldaps://ldap.example.com or ldap://ldap.example.com (with STARTTLS)')
    .refine((text) => URL.canParse(text), 'must be a URL')
    .optional(),
  /** CA certificates of the directory. Default: those of the system, and NODE_EXTRA_CA_CERTS. */
  LDAP_CA_FILE: pathSetting.optional(),
  /** The account that searches. Default: none (anonymous). */
  LDAP_BIND_DN: z.string().optional(),
  LDAP_BIND_PASSWORD_FILE: pathSetting.optional(),
  LDAP_USER_BASE: z.string().optional(),
  /** `{user}` is what the user enters. */
  LDAP_USER_FILTER: z.string().includes('{user}', 'must contain {user}').default('(uid={user})'),
  LDAP_GROUP_BASE: z.string().optional(),
  /** `{dn}` is the user's entry, `{user}` what the user enters. */
  LDAP_GROUP_FILTER: z.string().default('(|(member={dn})(uniqueMember={dn}))'),
  /** Name of the directory on the sign-in page. Default: its host name. */
  LDAP_NAME: z.string().max(60).optional(),
  LDAP_ROLES: groupRolesSetting,
} as const
