# The wireless last hop of Cen, Cosman & Voelker (2003), section V, in ns-2, for timing and for comparison by eye:
#
#   S_i --10 Mb/s, 1 ms--> R1 --shared--> R2 --150 kb/s, 10 ms, errors--> D_i
#
# N TFRC flows; the shared link has max(N, 2) x 130 kb/s and 20 ms; every queue holds max(rate / 60 kb/s, 6) packets;
# packets of 762 bytes on the wire; independent errors on the last links, after the transmission. Two on-off
# exponential sources warm the shared link up for the first 20 s and stop while the flows start. The same scenario for
# our simulator is papers/cen2003/scenarios/WLH.toml; `cargo xtask bench-ns2` says with which settings.
#
# Options: -flows N  -duration SECONDS  -warmup SECONDS  -loss RATE  -seed N
# -lean 1 takes the packet headers that nobody uses out, which saves time and memory and changes no result.
# -count 1 watches every link, which takes time, and prints how many transmissions of packets there were in all.

array set param {flows 16 duration 222 warmup 20 loss 0.078 seed 1 lean 0 count 0}
foreach {key value} $argv {
    set name [string range $key 1 end]
    if {[string index $key 0] ne "-" || ![info exists param($name)]} {
        puts stderr "wlh.tcl: there is no option $key; known are: [lsort [array names param]]"
        exit 2
    }
    set param($name) $value
}
if {$param(lean)} {
    remove-all-packet-headers
    add-packet-header IP Flags TFRC TFRC_ACK RTP
}

proc queue_pkts {bps} {
    return [expr {int(max($bps / 60000.0, 6))}]
}

proc link {a b bps delay} {
    global ns param monitors
    $ns duplex-link $a $b $bps $delay DropTail
    foreach {from to} [list $a $b $b $a] {
        $ns queue-limit $from $to [queue_pkts $bps]
        if {$param(count)} {
            lappend monitors [$ns monitor-queue $from $to "" 1000000]
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

set shared_bps [expr {max($param(flows), 2) * 130000}]
set r1 [$ns node]
set r2 [$ns node]
link $r1 $r2 $shared_bps 20ms

for {set i 0} {$i < $param(flows)} {incr i} {
    set src [$ns node]
    set dst [$ns node]
    link $src $r1 10000000 1ms
    link $r2 $dst 150000 10ms
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
    set agent [new Agent/TFRC]
    $agent set packetSize_ [expr {762 - [$agent set headersize_]}]
    set sink($i) [new Agent/TFRCSink]
    $ns attach-agent $src $agent
    $ns attach-agent $dst $sink($i)
    $ns connect $agent $sink($i)
    $ns at [expr {$param(warmup) + [$starts uniform 0 2]}] "$agent start"
}

# The warm-up traffic ends at R2. Each source is on half of the time, at half of the shared link's rate.
foreach k {0 1} {
    set src [$ns node]
    link $src $r1 10000000 1ms
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $ns attach-agent $src $udp
    $ns attach-agent $r2 $null
    $ns connect $udp $null
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ 762
    $source set burst_time_ 100ms
    $source set idle_time_ 100ms
    $source set rate_ [expr {$shared_bps / 2}]
    $source attach-agent $udp
    $ns at 0 "$source start"
    $ns at [expr {$param(warmup) + 1}] "$source stop"
}

proc finish {} {
    global ns param sink monitors
    $ns halt
    # TFRC never sends a packet twice.
    set delivered 0
    for {set i 0} {$i < $param(flows)} {incr i} {
        incr delivered [expr {round([$sink($i) set bytes_] / 762.0)}]
    }
    puts "delivered $delivered"
    if {$param(count)} {
        set hops 0
        set drops 0
        foreach monitor $monitors {
            incr hops [$monitor set pdepartures_]
            incr drops [$monitor set pdrops_]
        }
        puts "packet_hops $hops"
        puts "queue_drops $drops"
    }
}
$ns at $param(duration) finish
$ns run
