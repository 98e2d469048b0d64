import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { LabOfferQuery } from '@/nodes/add/documents.ts'
import { CopyButton } from '@/ui/copy-button.tsx'

const fingerprintCommand = 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub'
const labCommand = 'npm run lab -- list'

function Command({ text }: { text: string }) {
  return (
    <span className="flex items-center gap-1 rounded-md bg-sunken pl-2">
      <code className="min-w-0 flex-1 py-1.5 font-mono text-xs break-all text-text">{text}</code>
      <CopyButton text={text} />
    </span>
  )
}

/** Commands that show fingerprints for comparison; with an extra one for lab nodes. */
export function FingerprintCommands() {
  const [{ data }] = useQuery({ query: LabOfferQuery })
  return (
    <div className="flex flex-col gap-1 text-sm text-muted">
      <p>{t('hostKey.compareOnNode')}</p>
      <Command text={fingerprintCommand} />
      {data?.labOffer && (
        <>
          <p>{t('hostKey.compareInLab')}</p>
          <Command text={labCommand} />
        </>
      )}
    </div>
  )
}
