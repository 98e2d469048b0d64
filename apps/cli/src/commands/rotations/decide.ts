import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

const DECISIONS = {
  resume: async (id: string) =>
    (
      await request(
        graphql(`mutation CredentialRotationResume($id: ID!) {
          decided: resumeCredentialRotation(input: { id: $id }) { __typename ... on ResumeCredentialRotationPayload { credentialRotation { id } } ... on Error { code message } }
        }`),
        { id },
      )
    ).decided,
  complete: async (id: string) =>
    (
      await request(
        graphql(`mutation CredentialRotationComplete($id: ID!) {
          decided: completeCredentialRotation(input: { id: $id }) { __typename ... on CompleteCredentialRotationPayload { credentialRotation { id } } ... on Error { code message } }
        }`),
        { id },
      )
    ).decided,
  cancel: async (id: string) =>
    (
      await request(
        graphql(`mutation CredentialRotationCancel($id: ID!) {
          decided: cancelCredentialRotation(input: { id: $id }) { __typename ... on CancelCredentialRotationPayload { credentialRotation { id } } ... on Error { code message } }
        }`),
        { id },
      )
    ).decided,
}
export type Decision = keyof typeof DECISIONS

/** Decides about a paused or running rotation. @throws CliError when its state does not allow it */
export async function decide(decision: Decision, id: string): Promise<void> {
  orThrow(await DECISIONS[decision](id))
}
