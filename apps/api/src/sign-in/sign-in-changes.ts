import { AsyncLocalStorage } from 'node:async_hooks'
import { type Ctx, inTransaction, type Tx } from '@muster/core/context'
import type { Db } from '@muster/core/db'

export type ChangeSignIn = ReturnType<typeof createSignInChanges>['changeSignIn']

/**
 * Puts changes that better-auth makes into a transaction with their audit entry. better-auth has no option for a given transaction, so
 * its connection, `joinedDb`, is that transaction during a change.
 */
export function createSignInChanges(db: Db) {
  const current = new AsyncLocalStorage<Tx>()
  const joinedDb = new Proxy(db, {
    get(pool, name) {
      const place = current.getStore() ?? pool
      const value = Reflect.get(place, name, place) as unknown
      return typeof value === 'function' ? value.bind(place) : value
    },
  })
  return {
    joinedDb,
    /** Runs `work`, which calls better-auth and then writes the audit entry, in one transaction. It uses the system role. */
    changeSignIn: <T>(ctx: Ctx, work: (tx: Tx, ctx: Ctx) => Promise<T>): Promise<T> =>
      inTransaction({ ...ctx, db: ctx.systemDb }, (tx, ctx) => current.run(tx, () => work(tx, ctx))),
  }
}
