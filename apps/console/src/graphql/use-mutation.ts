'use client'
import { useCallback, useRef, useState } from 'react'
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useClient } from 'urql'
import { t } from '@/messages/index.ts'
import { askForIdentity } from './step-up.ts'

export type Issue = { path: string; message: string }
/** Why a request failed: the server's message and error code, and the issues of single fields. */
export type Problem = {
  message: string
  code: string
  issues: Issue[]
  /** Of SECOND_FACTOR_REQUIRED: identifies the sign-in in its second step. */
  challenge?: string | undefined
}

type Failure = { __typename: `${string}Error`; message: string; code: string; issues?: Issue[]; challenge?: string }
type Payload<D> = D[keyof D]
/** The result union of a mutation without its errors. */
export type Success<D> = Exclude<Payload<D>, { __typename: `${string}Error` } | null | undefined>
export type Outcome<T> = { ok: true; value: T } | { ok: false; problem: Problem }

/** The user-visible problem of a failed request. */
export function toProblem(error: CombinedError): Problem {
  if (error.networkError) return { message: t('error.network'), code: 'NETWORK', issues: [] }
  const [first] = error.graphQLErrors
  return { message: first?.message ?? t('error.unknown'), code: String(first?.extensions.code ?? 'UNKNOWN'), issues: [] }
}

function isFailure(payload: unknown): payload is Failure {
  return (
    typeof payload === 'object' && payload !== null && '__typename' in payload && String(payload.__typename).endsWith('Error')
  )
}

/** Splits a result union into success and Problem. Booleans and lists are successes. */
export function unwrap<D extends object>(data: D): Outcome<Success<D>> {
  const payload = Object.entries(data).find(([key]) => key !== '__typename')?.[1]
  if (isFailure(payload)) {
    const { message, code, issues = [], challenge } = payload
    return { ok: false, problem: { message, code, issues, challenge } }
  }
  return { ok: true, value: payload as Success<D> }
}

function outcomeOf<D extends object>({
  data,
  error,
}: {
  data?: D | undefined
  error?: CombinedError | undefined
}): Outcome<Success<D>> {
  if (data) return unwrap(data)
  const unknown = { message: t('error.unknown'), code: 'UNKNOWN', issues: [] }
  return { ok: false, problem: error ? toProblem(error) : unknown }
}

/**
 * A mutation: `run` sends it, repeats it when the user has confirmed their identity for it, and never throws; `busy` while in flight;
 * `problem` of the last attempt, null after a success.
 */
export function useMutation<D extends object, V extends AnyVariables>(document: TypedDocumentNode<D, V>) {
  const client = useClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const inFlight = useRef(0)
  const run = useCallback(
    async (variables: V): Promise<Outcome<Success<D>>> => {
      inFlight.current++
      setBusy(true)
      const send = async () => outcomeOf(await client.mutation(document, variables).toPromise())
      let outcome = await send()
      if (!outcome.ok && outcome.problem.code === 'STEP_UP_REQUIRED' && (await askForIdentity())) outcome = await send()
      if (--inFlight.current === 0) setBusy(false)
      setProblem(outcome.ok ? null : outcome.problem)
      return outcome
    },
    [client, document],
  )
  return { run, busy, problem, clear: useCallback(() => setProblem(null), []) }
}

/** The path of an issue relative to the input. */
export const relativePath = (issue: Issue) => issue.path.replace(/^input\./, '')

/** The message for one field of an input; `path` is dotted, with or without the leading `input.`. */
export function issueFor(problem: Problem | null, path: string): string | undefined {
  return problem?.issues.find((issue) => relativePath(issue) === path)?.message
}

/** The messages of a field and of its nested fields, one per line; nested ones start with their path. */
export function issuesWithin(problem: Problem | null, path: string): string | undefined {
  const lines = problem?.issues.flatMap((issue) => {
    const at = relativePath(issue)
    if (at === path) return issue.message
    return at.startsWith(`${path}.`) ? t('error.within', { name: at.slice(path.length + 1), message: issue.message }) : []
  })
  return lines?.join('\n') || undefined
}

/** The issues of all other fields. */
export function otherIssues(problem: Problem | null, fields: string[]): Issue[] {
  return problem?.issues.filter((issue) => !fields.includes(relativePath(issue).split('.')[0] ?? '')) ?? []
}

/**
 * What a form shows above its buttons: the message of a problem without issues, or the issues that no field shows.
 * @param fields paths that show their own issues and those of their nested fields
 */
export function noticeOf(problem: Problem | null, fields: readonly string[]): string | null {
  if (!problem) return null
  const isPlaced = (path: string) => fields.some((field) => path === field || path.startsWith(`${field}.`))
  const others = problem.issues.filter((issue) => !isPlaced(relativePath(issue))).map(({ message }) => message)
  return problem.issues.length === 0 ? problem.message : others.join('\n') || null
}
