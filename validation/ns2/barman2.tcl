# Configuration 2 of Barman & Matta (2002), section 6, in ns-2, for timing and for comparison by eye:
#
#   source i       --10 Mb/s, 1 ms--> r1 --10 Mb/s, 50 ms--> r2 --2 Mb/s, 0.01 ms, errors--> sink i
#   cross source j --10 Mb/s, 1 ms--> r1                     r2 --10 Mb/s, 1 ms--> cross sink j
#
# N NewReno flows as in our mode `ns2-classic`: a tick of 0.1 s, a minimum timeout of 1 s, no limited transmit, no SYN,
# packets of 1000 bytes without headers, an initial window of 1, whole windows halved, 6 s before the first round-trip
# time. Pareto on-off sources of shape 2.5 beside them. The shared queue has a limit_ of 127 packets, all others of 50;
# independent errors on the last links, after the transmission, towards the sinks. Everything starts within 3 s. The same
# scenario for our simulator is papers/barman2002/scenarios/config2.toml; `cargo xtask bench-ns2` hands over its parameters.
#
# Options: -flows N  -duration SECONDS  -loss RATE  -cross-sources N  -cross-bps RATE  -cross-bytes SIZE  -cross-on-ms MS
# -cross-off-ms MS  -buffer PACKETS  -seed N
# -lean 1 takes the packet headers that nobody uses out, which saves time and memory and changes no result.
# -count 1 watches every link, which takes time, and prints how many transmissions of packets there were in all, and what
# came to the shared queue and was dropped there.

array set param {
    flows 10 duration 200 loss 0.05 cross-sources 30 cross-bps 0.53e6 cross-bytes 210 cross-on-ms 100 cross-off-ms 100
    buffer 127 seed 1 lean 0 count 0
}
foreach {key value} $argv {
    set name [string range $key 1 end]
    if {[string index $key 0] ne "-" || ![info exists param($name)]} {
        puts stderr "barman2.tcl: there is no option $key; known are: [lsort [array names param]]"
        exit 2
    }
    set param($name) $value
}
if {$param(lean)} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags RTP
}

proc link {a b bps delay limit} {
    global ns param monitor
    $ns duplex-link $a $b $bps $delay DropTail
    foreach {from to} [list $a $b $b $a] {
        $ns queue-limit $from $to $limit
        if {$param(count)} {
            set monitor($from,$to) [$ns monitor-queue $from $to "" 1000000]
        }
    }
}

# A generator of its own; the first draws after a small seed are all small and are thrown away.
proc generator {seed} {
    set rng [new RNG]
    $rng seed $seed
    for {set k 0} {$k < 100} {incr k} {
        $rng uniform 0 1
    }
    return $rng
}

set ns [new Simulator]
set starts [generator $param(seed)]
# ns-2 draws from it at which point of a tick each TCP sender's clock stands.
$defaultRNG seed $param(seed)

set r1 [$ns node]
set r2 [$ns node]
link $r1 $r2 10000000 50ms $param(buffer)

for {set i 0} {$i < $param(flows)} {incr i} {
    set src [$ns node]
    set dst [$ns node]
    link $src $r1 10000000 1ms 50
    link $r2 $dst 2000000 0.01ms 50
    if {$param(loss) > 0} {
        set channel [new ErrorModel]
        set uniform [new RandomVariable/Uniform]
        $uniform use-rng [generator [expr {$param(seed) * 1000 + $i + 1}]]
        $channel unit pkt
        $channel set rate_ $param(loss)
        $channel ranvar $uniform
        [$ns link $r2 $dst] install-error $channel
        $channel drop-target [new Agent/Null]
    }
    set agent [new Agent/TCP/Newreno]
    foreach {name value} {
        tcpTick_ 0.1 minrto_ 1 rtxcur_init_ 6 singledup_ 0 precisionReduce_ 0
        syn_ 0 delay_growth_ 0 windowInit_ 1 useHeaders_ 0 packetSize_ 1000 window_ 1000
    } {
        $agent set $name $value
    }
    set sink($i) [new Agent/TCPSink]
    $ns attach-agent $src $agent
    $ns attach-agent $dst $sink($i)
    $ns connect $agent $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $agent
    $ns at [$starts uniform 0 3] "$ftp start"
}

for {set j 0} {$j < $param(cross-sources)} {incr j} {
    set src [$ns node]
    set dst [$ns node]
    link $src $r1 10000000 1ms 50
    link $r2 $dst 10000000 1ms 50
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $udp set packetSize_ $param(cross-bytes)
    $ns attach-agent $src $udp
    $ns attach-agent $dst $null
    $ns connect $udp $null
    set source [new Application/Traffic/Pareto]
    $source use-rng [generator [expr {$param(seed) * 1000 + 500 + $j}]]
    $source set packetSize_ $param(cross-bytes)
    $source set burst_time_ $param(cross-on-ms)ms
    $source set idle_time_ $param(cross-off-ms)ms
    $source set rate_ $param(cross-bps)
    $source set shape_ 2.5
    $source attach-agent $udp
    $ns at [$starts uniform 0 3] "$source start"
}

proc finish {} {
    global ns param sink monitor r1 r2
    $ns halt
    # TCPSink counts the bytes that it passed on in order.
    set delivered 0
    for {set i 0} {$i < $param(flows)} {incr i} {
        incr delivered [expr {round([$sink($i) set bytes_] / 1000.0)}]
    }
    puts "delivered $delivered"
    if {$param(count)} {
        set hops 0
        foreach {link watched} [array get monitor] {
            incr hops [$watched set pdepartures_]
        }
        puts "packet_hops $hops"
        puts "shared_arrivals [$monitor($r1,$r2) set parrivals_]"
        puts "shared_drops [$monitor($r1,$r2) set pdrops_]"
    }
}
$ns at $param(duration) finish
$ns run
