# The first process of the container with the X11 display of a run. The image has Xvfb, or for a GPU Xorg and nvidia-smi.
#
# The socket of display 0 is in $folder, which only the job's container shares. That is the access control, so every client
# that reaches the socket may use it (-ac). MIT-SHM is off, because containers do not share memory.
#
# When the X server is ready, $folder/berth is created: a pipe to which the first process of the job's container writes a line
# and which it keeps open. When that process ends in any way, the kernel closes the pipe, and the display exits with 0. Any
# other exit code is a failure. Until the line is read, the pipe is open here too, for a process that ends at once.
#
# gpu: ''; or the index of the GPU; or TOLD: the id of the GPU is read from the pipe $folder/gpu.

gpu=$1 folder=/tmp/.X11-unix screen=1280x960
trap 'exit 0' USR1
trap 'exit 143' TERM
umask 0

# 00000000:3B:00.0 becomes PCI:59@0:0:0.
bus_of() {
  at=$(nvidia-smi -i "$1" --query-gpu=pci.bus_id --format=csv,noheader) || exit
  rest=${at#*:}
  device=${rest#*:}
  printf 'PCI:%d@%d:%d:%d' "0x${rest%%:*}" "0x${at%%:*}" "0x${device%.*}" "0x${device#*.}"
}

configuration() {
  cat <<END
Section "ServerFlags"
  Option "AutoAddDevices" "false"
  Option "AutoAddGPU" "false"
EndSection
Section "Device"
  Identifier "gpu"
  Driver "nvidia"
  BusID "$1"
  Option "AllowEmptyInitialConfiguration" "true"
EndSection
Section "Monitor"
  Identifier "monitor"
  HorizSync 30-70
  VertRefresh 50-70
EndSection
Section "Screen"
  Identifier "screen"
  Device "gpu"
  Monitor "monitor"
  DefaultDepth 24
  Option "UseDisplayDevice" "None"
  SubSection "Display"
    Depth 24
    Modes "$screen"
    Virtual ${screen%x*} ${screen#*x}
  EndSubSection
EndSection
END
}

if [ -z "$gpu" ]; then
  set -- Xvfb :0 -screen 0 "${screen}x24"
else
  if [ "$gpu" = TOLD ]; then
    mkfifo "$folder/gpu" || exit
    read -r gpu <"$folder/gpu" || { echo 'nvidia-smi reports no GPU in the container of the job' >&2; exit 1; }
  fi
  bus=$(bus_of "$gpu") || exit
  configuration "$bus" >/tmp/berth-xorg.conf
  # Xorg opens a terminal even if it does not use it, and containers lack terminals.
  [ -e /dev/tty7 ] || ln -s ptmx /dev/tty7
  set -- Xorg :0 vt7 -novtswitch -sharevts -config /tmp/berth-xorg.conf -logfile /tmp/berth-xorg.log
fi
mkfifo /tmp/berth-ready || exit
"$@" -ac -noreset -nolisten tcp -extension MIT-SHM -displayfd 3 3>/tmp/berth-ready &
server=$!
if read -r _ </tmp/berth-ready; then
  [ ! -e /dev/termination-log ] || echo READY >/dev/termination-log
  mkfifo "$folder/.berth" || exit
  exec 4<>"$folder/.berth"
  mv "$folder/.berth" "$folder/berth"
  (read -r _ <&4; exec 5<"$folder/berth" 4>&-; cat <&5 >/dev/null; kill -USR1 "$$") &
  exec 4>&-
fi
wait "$server"
code=$?
[ "$code" -ne 0 ] || code=1
exit "$code"
