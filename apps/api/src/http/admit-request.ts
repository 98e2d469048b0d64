import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../api.ts'
import { LimitError, MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BYTES, MAX_LARGE_BODIES } from '../limits.ts'
import { callerKey } from '../sign-in/caller.ts'
import { isLimited, readBody, rejectBody } from './graphql-body.ts'
import { paceCaller, tooManyRejected } from './pacing.ts'
import { headersOf } from './request-facts.ts'

const LARGE_BODIES_STEP = 'Wait for responses before sending more large requests.'
const SIGNED_IN = { limit: MAX_BODY_BYTES, nextStep: 'Split the request.' }
const ANONYMOUS = { limit: MAX_ANONYMOUS_BODY_BYTES, nextStep: 'Sign in to send larger requests.' }

/** Waits until the caller may send a request to Yoga, and reads its JSON body. `bodyRejection` says why it was rejected. */
export async function admitRequest(api: Api, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const charge = await paceCaller(api, headersOf(req))
  res.once('close', () => void (isLimited(req) && charge?.()))
  if (!charge) rejectBody(req, tooManyRejected())
  // Other content types are rejected before their body is read.
  else if (req.method === 'POST' && req.headers['content-type']?.includes('json')) {
    const limit = await bodyLimit(api, req, res)
    if (limit) await readBody(req, limit)
    else rejectBody(req, new LimitError('LARGE_BODIES', MAX_LARGE_BODIES, MAX_LARGE_BODIES + 1, LARGE_BODIES_STEP))
  }
}

/** A body that is not announced as small is read only after the caller is known. Null: the caller sends too many of them. */
async function bodyLimit({ deps, largeBodies }: Api, req: IncomingMessage, res: ServerResponse) {
  if (Number(req.headers['content-length']) <= MAX_ANONYMOUS_BODY_BYTES) return ANONYMOUS
  const caller = await deps.auth.findCaller(headersOf(req)).catch(() => null)
  if (!caller) return ANONYMOUS
  const release = largeBodies.take(callerKey(caller, ''))
  if (!release) return null
  res.once('close', release)
  return SIGNED_IN
}
