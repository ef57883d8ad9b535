#!/usr/bin/env node
// JavaScript that even Node 12 parses, so that it can say that Node is too old for the rest.
const NODE_MAJOR_MIN = 24

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) adviseToUpgrade()
else launch()

function isClone() {
  return /\/src\/cli\/launch\.js$/.test(import.meta.url)
}

function adviseToUpgrade() {
  const advice = isClone()
    ? 'In a clone, run it through npm, which brings its own Node 26 along:\n' +
      '  npm ci\n  npm start\n  npm run wakeful -- set "in 10 seconds" --message hello\n'
    : 'Upgrade Node (https://nodejs.org, or your version manager) and run it again.\n'
  const found = `this is Node ${process.versions.node} (${process.execPath})`
  process.stderr.write(`error: wakeful needs Node ${NODE_MAJOR_MIN} or newer, and ${found}.\n${advice}`)
  process.exit(1)
}

function launch() {
  quietExperiments()
  // The build rewrites this to ./main.js, like every import.
  import('./main.ts').catch((error) => {
    const detail = error instanceof Error ? error.stack : error
    process.stderr.write(`error: wakeful could not start: ${detail}\n`)
    process.exit(1)
  })
}

// Some versions of Node print a warning that node:sqlite is experimental, which does not help users.
function quietExperiments() {
  const emit = process.emitWarning
  process.emitWarning = (warning, kind, ...rest) => {
    const name = kind !== null && typeof kind === 'object' ? kind.type : kind
    if (name === 'ExperimentalWarning') return
    emit.call(process, warning, kind, ...rest)
  }
}
