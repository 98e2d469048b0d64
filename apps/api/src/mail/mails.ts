import type { Mail } from './mailer.ts'

type Invitation = { email: string; tenantName: string; inviter: string; link: string; expiresAt: Date }

/** The mail with the link of an invitation. */
export const invitationMail = ({ email, tenantName, inviter, link, expiresAt }: Invitation): Mail => ({
  to: email,
  subject: `Invitation to ${tenantName} in Muster`,
  text: `${inviter} invited you to the tenant ${tenantName} in Muster.

Open this link to accept. It works once, until ${utc(expiresAt)}:

${link}

If you do not know ${inviter}, ignore this email.
`,
})

/** The mail with the link to set a new password. */
export const passwordResetMail = ({ email, link }: { email: string; link: string }): Mail => ({
  to: email,
  subject: 'Reset your Muster password',
  text: `A password reset was requested for ${email} in Muster.

Open this link to set a new password. It works once, within one hour:

${link}

If you did not request it, ignore this email. Your password does not change.
`,
})

/** The email with the link that changes the address of an account. */
export const emailChangeMail = ({ name, before, email, link }: EmailChange & { name: string; link: string }): Mail => ({
  to: email,
  subject: 'Confirm your email address in Muster',
  text: `${name} (${before}) asked to change the address of their account in Muster to ${email}.

If this is your account, sign in to Muster as before, then open this link. It works once, within one hour:

${link}

If this is not your account, ignore this email. Nothing changes.
`,
})

/** The notification to the former address of an account. */
export const emailChangedMail = ({ before, email }: EmailChange): Mail => ({
  to: before,
  subject: 'Your email address in Muster was changed',
  text: `The address of your account in Muster is now ${email}. This address no longer signs in.

If you did not change it, ask an owner of your tenant to suspend the account.
`,
})

type EmailChange = { before: string; email: string }

const utc = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** A link that carries its secret in the fragment, which browsers do not send: no server or proxy logs it. */
export const secretLink = (publicUrl: string, path: string, token: string): string =>
  new URL(`${path}#token=${token}`, publicUrl).href
