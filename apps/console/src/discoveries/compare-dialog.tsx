'use client'
import { useState } from 'react'
import { useClient, useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { LatestDiscoveryQuery, NodeNamesQuery } from '@/nodes/node-documents.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { DiffView } from './diff-view.tsx'

/** Compares this node's latest discovery with that of another node. */
export function CompareDialog({
  discoveryId,
  nodeName,
  onClose,
}: {
  discoveryId: string
  nodeName: string
  onClose: () => void
}) {
  const client = useClient()
  const [name, setName] = useState('')
  const [error, setError] = useState<string>()
  const [other, setOther] = useState<{ id: string; name: string } | null>(null)
  const [{ data }] = useQuery({ query: NodeNamesQuery, variables: { text: name }, pause: name.length < 2 })
  async function compare() {
    const result = await client.query(LatestDiscoveryQuery, { name: name.trim() }, { requestPolicy: 'network-only' }).toPromise()
    const latest = result.data?.computeNode?.latestDiscovery
    if (result.error) setError(toProblem(result.error).message)
    else if (!result.data?.computeNode) setError(t('diff.noNode', { name }))
    else if (!latest) setError(t('diff.noDiscovery', { name }))
    else {
      setError(undefined)
      setOther({ id: latest.id, name: name.trim() })
    }
  }
  return (
    <Dialog
      wide
      title={other ? t('diff.between', { before: nodeName, after: other.name }) : t('diff.withOther')}
      onClose={onClose}
    >
      <form
        className="flex items-start gap-2 pb-4"
        onSubmit={(event) => {
          event.preventDefault()
          void compare()
        }}
      >
        <TextField
          className="flex-1"
          mono
          label={t('diff.otherNode')}
          list="node-names"
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={error}
          autoComplete="off"
        />
        <datalist id="node-names">
          {data?.nodes.edges.map(({ node }) => (
            <option key={node.id} value={node.name} />
          ))}
        </datalist>
        <Button className="mt-6" type="submit" variant="primary" blockedReason={name.trim() ? null : t('diff.needName')}>
          {t('diff.compare')}
        </Button>
      </form>
      {other && <DiffView before={discoveryId} after={other.id} />}
    </Dialog>
  )
}
