import type { AuditAction } from '@muster/core/audit'
import { Conflict, type DomainError } from '@muster/core/errors'
import type { InputFieldMap, InputFieldRef, InputRef, InputShapeFromFields, ShapeFromTypeParam, TypeParam } from '@pothos/core'
import { builder } from '../../builder.ts'
import { type ApiContext, clearLoaderCaches } from '../../context.ts'
import { actionOf, audited } from './audited.ts'
import { COMMON } from './errors.ts'

type Types = (typeof builder)['$inferSchemaTypes']
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
type ErrorClass = abstract new (...args: never[]) => DomainError
type AuthScopes = { public: true } | { authenticated: true }

type PayloadField = { type: TypeParam<Types>; nullable?: boolean; description: string }
type PayloadFields = Record<string, PayloadField>
type PayloadShape<Fields extends PayloadFields> = {
  [Name in keyof Fields]: ShapeFromTypeParam<Types, Fields[Name]['type'], Fields[Name]['nullable'] extends true ? true : false>
}

type MutationOptions<Input extends InputFieldMap, Payload extends PayloadFields> = {
  description: string
  /** Default: `{ authenticated: true }`. */
  authScopes?: AuthScopes
  /** Fields of the input type; omitted for a mutation without arguments. */
  input?: (t: InputFields) => Input
  /** Fields of the payload type. */
  payload: Payload
  /** Errors in addition to those that every mutation can return. */
  errors?: ErrorClass[]
  /** Adds `idempotencyKey` to the input, for mutations that create something; `resolve` passes it to the verb. */
  idempotent?: boolean
  /** Its action in the audit log. Default: `job_run.cancel` for `cancelJobRun`. */
  action?: AuditAction
  /** It changes nothing by itself, for example the start of a sign-in: without a session, the audit log records only its failures. */
  isStep?: boolean
  resolve: (
    input: InputShapeFromFields<Input> & { idempotencyKey?: string | null },
    context: ApiContext,
  ) => Promise<PayloadShape<Payload>> | PayloadShape<Payload>
}

const IDEMPOTENCY_KEY =
  'Makes a retry safe: a request with the same key and input returns the first result. Unique per tenant and mutation, kept for 7 days.'

/**
 * Adds the mutation `name(input: NameInput!): NameResult!`, where NameResult is the union of NamePayload and the errors. Every
 * mutation is defined by this function, so that all follow one convention. Returns the input type, for a query that previews the
 * mutation.
 */
export function mutation<Payload extends PayloadFields, Input extends InputFieldMap = Record<string, never>>(
  name: string,
  {
    description,
    authScopes = { authenticated: true },
    input,
    payload,
    errors = [],
    idempotent = false,
    action = actionOf(name),
    isStep,
    resolve,
  }: MutationOptions<Input, Payload>,
): InputRef<InputShapeFromFields<Input>> {
  const typeName = name[0]!.toUpperCase() + name.slice(1)
  const Payload = builder.objectRef<PayloadShape<Payload>>(`${typeName}Payload`).implement({
    description: `Result of a successful \`${name}\`.`,
    fields: (t) =>
      Object.fromEntries(
        Object.entries(payload).map(([field, { type, nullable = false, description }]) => [
          field,
          t.field({ type, nullable, description, resolve: (parent) => parent[field] as never }),
        ]),
      ),
  })
  const Input =
    input &&
    builder.inputType(`${typeName}Input`, {
      description: `Input of \`${name}\`.`,
      fields: (t) => ({ ...input(t), ...(idempotent ? { idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) } : {}) }),
    })
  builder.mutationField(name, (t) =>
    t.field({
      type: Payload,
      description,
      authScopes,
      errors: {
        types: [...new Set([...('public' in authScopes ? [] : COMMON), ...(idempotent ? [Conflict] : []), ...errors])] as never,
      },
      args: Input ? { input: t.arg({ type: Input, required: true, description: `Input of \`${name}\`.` }) } : {},
      resolve: (_root: unknown, args: { input?: unknown }, context: ApiContext) => {
        // The payload of an earlier mutation of the document filled the caches.
        clearLoaderCaches(context)
        return audited(
          action,
          args.input as object | undefined,
          context,
          async (context) => resolve(args.input as never, context),
          isStep,
        ) as never
      },
    } as never),
  )
  return Input as unknown as InputRef<InputShapeFromFields<Input>>
}

export type { InputFieldRef }

/** Sentence about the default of a field that inputs to create and to update an object share. Only the former has defaults. */
export type DefaultText = (value: string) => string
export const statesDefault: DefaultText = (value) => ` Default: ${value}.`
export const keepsValue: DefaultText = () => ''

/** Payload of mutations that delete an object. */
export const deletedPayload = {
  deletedId: { type: 'ID', description: 'The ID of the deleted object.' },
} as const
