import type { Ctx } from '../kernel/context.ts'

/** The caller as owner: Muster later acts with the permissions that the owner has then. */
export const ownedBy = ({ actor }: Pick<Ctx, 'actor'>) => ({
  ownerId: actor.kind === 'user' ? actor.id : actor.kind === 'token' ? actor.userId : null,
  ownerName: actor.name,
  isOwnedByToken: actor.kind === 'token',
  ownerTokenId: actor.kind === 'token' ? actor.id : null,
})

/** Why nothing was started when the owner has no access any more. */
export const ownerGoneMessage = (
  what: string,
  { ownerName, isOwnedByToken }: { ownerName: string; isOwnedByToken: boolean },
): string =>
  isOwnedByToken
    ? `The API token ${ownerName}, which owns this ${what}, is revoked, expired or deleted. Save the ${what} with another token or as a user to become its owner.`
    : `${ownerName}, who owns this ${what}, is not an active member of the tenant any more. Save the ${what} to become its owner.`
