import { z } from 'zod'

/** The URL of a hook. Its path or query may be secret, so the whole URL is stored encrypted. */
export const HookUrl = z
  .string()
  .trim()
  .max(2000)
  .transform((text, ctx) => {
    const url = URL.parse(text)
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash) return url.href
    ctx.addIssue({ code: 'custom', message: 'must look like https://hooks.example.org/…, without a name, password or #' })
    return z.NEVER
  })

/** A secret that signs messages, or a password. */
export const HookSecret = z
  .string()
  .min(8, 'must have at least 8 characters')
  .max(1024)
  .refine((text) => !/[\0\r\n]/.test(text), 'must be one line')
