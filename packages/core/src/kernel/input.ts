import { z } from 'zod'

// Postgres rejects NUL in text and halves of surrogate pairs in JSON, terminals execute escape sequences, and bidi overrides make one name look like another.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Surrogate}]/u
const CONTROL_BUT_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\p{Surrogate}]/u

/** Length of the shortest secret that can be masked in logs: masking every `a` or `123` would make them unreadable. */
export const MIN_SECRET_LENGTH = 4

/** A secret that a run may use. */
export const Secret = z
  .string()
  .min(
    MIN_SECRET_LENGTH,
    `must have at least ${MIN_SECRET_LENGTH} characters: shorter ones cannot be distinguished from other text in logs, and would be shown`,
  )

/** One line of text: trimmed, 1..max characters, no control characters. */
export const singleLineText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine((text) => !CONTROL.test(text), 'must be one line without control characters')

/** Text of several lines: up to max characters, may be empty. */
export const multilineText = (max: number) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((text) => !CONTROL_BUT_LINES.test(text), 'must not contain control characters other than line ends and tabs')

/** Id of one object. */
export const Id = z.uuid('must be an id')

/** Ids of several objects, without duplicates. */
export const Ids = z
  .array(Id)
  .max(10_000, 'at most 10,000 at once')
  .transform((ids) => [...new Set(ids)])

/** The input of verbs that need only an id. */
export const IdInput = z.object({ id: Id })
