# Unpacks the snapshot as the user of the job, to whom the files then belong.
trap 'exit 143' TERM
cd /berth/snapshot || exit 1
rm -rf files && mkdir files || exit 1
tar -xpof archive -C files 2>/dev/termination-log & wait $! || exit 1
rm archive
