/**
 * Why the certificate of a server is rejected, with the next step; null for other errors. It continues a sentence that begins with the
 * server. Some libraries keep only the message of TLS errors.
 * @param authority where its authority is set
 */
export function certificateProblem(error: { code?: unknown; message?: string }, authority: string): string | null {
  const code = typeof error.code === 'string' && /CERT|ALTNAME|SIGNATURE/.test(error.code) ? error.code : null
  if (!code && !/certificate|altname/i.test(error.message ?? '')) return null
  const text = `${code ?? error.message}`
  const because = (reason: string, nextStep: string) =>
    `presents an untrusted certificate${reason}${code ? ` (${code})` : ''}; ${nextStep}`
  if (/expired/i.test(text)) return because(': it has expired', 'renew it')
  if (/not_?.?yet_?.?valid/i.test(text)) return because(': it is not valid yet', 'check the clocks of both machines')
  if (/altname/i.test(text)) return because(': it is for another name', 'use a name that it has, or issue it for this one')
  return because('', `set ${authority}`)
}
