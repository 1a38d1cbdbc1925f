#!/bin/sh
# npm run sbom: prints the bill of materials of the package, in the format CycloneDX. It has the versions of the lockfile.
# "npm sbom --omit=dev" would leave out packages that development needs too, such as pg.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/berth"
cp "$(dirname -- "$0")/../package.json" "$(dirname -- "$0")/../package-lock.json" "$folder/berth"
cd "$folder/berth"
npm pkg delete devDependencies peerDependencies scripts
npm install --silent --package-lock-only --ignore-scripts --offline
npm sbom --package-lock-only --sbom-format cyclonedx
