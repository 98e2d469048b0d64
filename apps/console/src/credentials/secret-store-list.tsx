import { Vault } from 'lucide-react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { ReceiverList } from '@/ui/receiver-list.tsx'
import { SecretStoreDialog } from './secret-store-dialog.tsx'
import { DeleteSecretStore, SecretStoresQuery } from './secret-store-documents.ts'

/** Servers with the secrets of credentials; creates, edits and deletes them. */
export function SecretStoreList() {
  const list = useConnection('secretStores', SecretStoresQuery, {}, (data) => data.secretStores)
  const remove = useMutation(DeleteSecretStore)
  const updateBlockedReason = useBlockedReason('credential:write')
  return (
    <section aria-labelledby="secret-stores" className="flex flex-col gap-3 pt-8">
      <h2 id="secret-stores" className="text-base font-semibold">
        {t('secretStores.title')}
      </h2>
      <ReceiverList
        list={{ ...list, rows: list.rows.map((store) => ({ ...store, isEnabled: true, updateBlockedReason })) }}
        icon={<Vault aria-hidden />}
        addBlockedReason={updateBlockedReason}
        remove={({ id }) => remove.run({ id })}
        texts={{
          add: t('secretStores.new'),
          loadFailed: t('secretStores.loadFailed'),
          emptyTitle: t('secretStores.emptyTitle'),
          emptyText: t('secretStores.emptyText'),
          deleteText: t('secretStores.deleteText'),
        }}
        badges={({ kind, auth }) => (
          <>
            <Badge>{t(`secretStores.kind.${kind}`)}</Badge>
            <Badge>{t(`secretStores.auth.${auth}`)}</Badge>
          </>
        )}
        details={({ address, mount, namespace, region, credentials: { edges } }) => (
          <>
            <span className="font-mono text-xs break-all text-muted">{address}</span>
            <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
              {mount && <span>{t('secretStores.mountOf', { mount })}</span>}
              {namespace && <span>{t('secretStores.namespaceOf', { namespace })}</span>}
              {region && <span>{t('secretStores.regionOf', { region })}</span>}
              <span className="break-words">
                {edges.length > 0
                  ? t('secretStores.usedBy', { names: formatList(edges.map(({ node }) => node.name)) })
                  : t('secretStores.unused')}
              </span>
            </div>
          </>
        )}
        dialog={(store, props) => <SecretStoreDialog store={store} {...props} />}
      />
    </section>
  )
}
