#!/bin/sh
# Make the synthetic topologies again, with hwloc 2.9 (Debian package hwloc). README.md says what each is for.
# The real capture is not made again. The expected results (*.json) are written apart from it and do not change with it.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# synthetic NAME DESCRIPTION [OPTION...]: hwloc's own output, without what names the maker's computer.
synthetic() {
    name=$1 description=$2
    shift 2
    lstopo-no-graphics --if synthetic -i "$description" --of xml --force "$scratch/made.xml"
    lstopo-no-graphics -i "$scratch/made.xml" "$@" --of xml | grep -v -e ProcessName -e '<support ' > "$name.xml"
}

# distances NAME ROW...: adds a latency table, one row a node, as the firmware (SLIT) would give it.
distances() {
    name=$1
    shift
    {
        echo name=NUMALatency
        echo 5 # from the operating system, means latency
        echo $#
        node=0
        while [ $node -lt $# ]; do
            echo "NUMANode:$node"
            node=$((node + 1))
        done
        printf '%s\n' "$@" | tr ' ' '\n'
    } > "$scratch/distances"
    hwloc-annotate "$name.xml" "$scratch/annotated.xml" root distances "$scratch/distances"
    grep -v -e ProcessName -e '<support ' "$scratch/annotated.xml" > "$name.xml"
}



synthetic two-node "pack:2 [numa(memory=68719476736)] l3:1(size=26214400) l2:10(size=262144) l1d:1(size=32768) core:1 pu:1"
distances two-node '10 21' '21 10'

synthetic four-node "pack:4 [numa(memory=34359738368)] l3:1(size=20971520) l2:8(size=262144) l1d:1(size=32768) core:1 pu:1"
distances four-node '10 21 31 21' '21 10 21 31' '31 21 10 21' '21 31 21 10'

synthetic eight-node "pack:4 group:2 [numa(memory=17179869184)] l3:1(size=6291456) l2:6(size=524288) core:1 pu:1"
distances eight-node '10 16 16 22 16 22 16 22' '16 10 22 16 22 16 22 16' '16 22 10 16 16 22 16 22' '22 16 16 10 22 16 22 16' \
    '16 22 16 22 10 16 16 22' '22 16 22 16 16 10 22 16' '16 22 16 22 16 22 10 16' '22 16 22 16 22 16 16 10'

synthetic sub-numa "pack:2 l3:1(size=37486592) group:2 [numa(memory=51539607552)] l2:4(size=1048576) core:1 pu:1"
distances sub-numa '10 11 21 21' '11 10 21 21' '21 21 10 11' '21 21 11 10'

synthetic memory-only "pack:3 [numa(memory=34359738368)] l3:1(size=33554432) l2:4(size=2097152) core:1 pu:1" --restrict 0xff
distances memory-only '10 21 14' '21 10 24' '14 24 10'

synthetic memoryless "pack:4 [numa(memory=17179869184)] l3:1(size=8388608) core:2 pu:1"
distances memoryless '10 20 16 22' '20 10 22 16' '16 22 10 20' '22 16 20 10'
sed -i '/NUMANode" os_index="1"/s/ local_memory="[0-9]*"//' memoryless.xml

synthetic smt "pack:2 [numa(memory=34359738368)] l3:1(size=20971520) l2:4(size=262144) l1d:1(size=32768) core:1 pu:2(indexes=2*8:1*2)"

synthetic restricted "pack:4 [numa(memory=17179869184)] l3:1(size=20971520) core:4 pu:1" --disallowed --allow 0x00f3 --allow nodeset=0x7

synthetic uneven "pack:3 [numa(memory=17179869184)] l3:1(size=8388608) core:4 pu:1" --restrict 0x0f31
distances uneven '10 20 30' '20 10 20' '30 20 10'

synthetic two-memories "pack:1 [numa(memory=103079215104)] [numa(memory=17179869184)] l2:4(size=1048576) core:2 pu:4"
distances two-memories '10 31' '31 10'

synthetic hwloc1 "pack:2 [numa(memory=8589934592)] l3:1(size=6291456) core:2 pu:1" --export-xml-flags v1

synthetic epyc-nps1 "pack:1 [numa(memory=137438953472)] l3:8(size=33554432) l2:8(size=524288) core:1 pu:2(indexes=2*64:1*2)"

synthetic epyc-nps4 "pack:1 group:4 [numa(memory=34359738368)] l3:2(size=33554432) l2:8(size=524288) core:1 pu:2(indexes=2*64:1*2)"
distances epyc-nps4 '10 12 12 12' '12 10 12 12' '12 12 10 12' '12 12 12 10'

synthetic ryzen "pack:1 [numa(memory=34359738368)] l3:2(size=33554432) l2:8(size=524288) core:1 pu:2(indexes=2*16:1*2)"

# hybrid NAME SLOWER FASTER: adds the kinds of cores as hwloc 2.9 writes them, the slower PUs first.
hybrid() {
    sed -i "/<\/topology>/i\\
  <cpukind cpuset=\"$2\" forced_efficiency=\"0\">\\
    <info name=\"FrequencyMaxMHz\" value=\"3900\"/>\\
    <info name=\"LinuxCapacity\" value=\"1024\"/>\\
    <info name=\"CoreType\" value=\"IntelAtom\"/>\\
  </cpukind>\\
  <cpukind cpuset=\"$3\" forced_efficiency=\"0\">\\
    <info name=\"FrequencyMaxMHz\" value=\"5100\"/>\\
    <info name=\"LinuxCapacity\" value=\"1024\"/>\\
    <info name=\"CoreType\" value=\"IntelCore\"/>\\
  </cpukind>" "$1.xml"
}

synthetic alder-lake "pack:1 [numa(memory=34359738368)] l3:1(size=26214400) l2:14(size=1310720) core:1 pu:2" --restrict 0x5555fff
hybrid alder-lake 0x05555000 0x00000fff

# The same with the slower cores first, as some firmware numbers them.
synthetic slow-first "pack:1 [numa(memory=34359738368)] l3:1(size=26214400) l2:6(size=1310720) core:1 pu:2" --restrict 0xf55
hybrid slow-first 0x00000055 0x00000f00

synthetic graviton "pack:1 [numa(memory=137438953472)] l3:1(size=33554432) l2:64(size=1048576) core:1 pu:1"
