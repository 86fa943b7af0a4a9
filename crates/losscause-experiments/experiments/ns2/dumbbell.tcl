# A dumbbell in ns-2: N senders -> R1 -> R2 -> N receivers, one bottleneck that loses packets after it has
# transmitted them. validation/ns2/README.md lists the options; all of them have the defaults below.

array set param {
    protocol    reno
    rate        800k
    rtt         40
    queue       60
    red         ""
    flows       1
    starts      ""
    duration    60
    warmup      0
    size        1000
    window      1000
    tick        0.01
    minrto      0.2
    sink        TCPSink
    losses      ""
    loss-rate   0
    loss-seed   1
    loss-place  after
    seed        1
    access-rate 10M
    access-ms   1
    overhead    0
    cross-rate  0
    cross-bytes 1500
    trace       ""
    trace-all   ""
    sample      ""
    every       0.01
    status      0
    set         ""
}

proc refuse {sentence} {
    puts stderr "dumbbell.tcl: $sentence"
    exit 2
}

foreach {key value} $argv {
    set name [string range $key 1 end]
    if {[string index $key 0] ne "-" || ![info exists param($name)]} {
        refuse "there is no option $key; known are: [lsort [array names param]]"
    }
    set param($name) $value
}
if {[llength $argv] % 2} {
    refuse "the option [lindex $argv end] needs a value"
}
if {[lsearch {reno newreno sack vegas tahoe tfrc} $param(protocol)] < 0} {
    refuse "-protocol is reno, newreno, sack, vegas, tahoe or tfrc, not $param(protocol)"
}
if {[lsearch {after before} $param(loss-place)] < 0} {
    refuse "-loss-place is after or before, not $param(loss-place)"
}
if {$param(starts) eq ""} {
    for {set i 0} {$i < $param(flows)} {incr i} {
        lappend param(starts) [expr {0.1 * $i}]
    }
}
if {[llength $param(starts)] != $param(flows)} {
    refuse "-starts needs one time per flow ($param(flows)), not [llength $param(starts)]"
}

# Only the headers in use: it halves the run time and changes no result.
remove-all-packet-headers
add-packet-header IP TCP Flags TFRC TFRC_ACK
if {$param(cross-rate) > 0} {
    add-packet-header RTP
}

# The first draws after a small seed are all small; they are thrown away.
proc stir {rng seed} {
    $rng seed $seed
    for {set k 0} {$k < 100} {incr k} {
        $rng uniform 0 1
    }
}

set ns [new Simulator]
# ns-2 draws from it at which point of a tick each TCP sender's clock stands.
stir $defaultRNG $param(seed)
set trace_file ""
if {$param(trace-all) ne ""} {
    # ns-2 traces the links that are made after this.
    set trace_file [open $param(trace-all) w]
    $ns trace-all $trace_file
}

# ---- topology -------------------------------------------------------------------------------------------------

set r1 [$ns node]
set r2 [$ns node]
set far_ms [expr {$param(rtt) / 2.0 - 2.0 * $param(access-ms)}]
if {$far_ms <= 0} {
    refuse "-rtt $param(rtt) ms leaves nothing for the bottleneck beside 4 x $param(access-ms) ms of access links"
}
if {$param(red) ne ""} {
    if {[llength $param(red)] != 5} {
        refuse "-red needs five values: min_th max_th max_p w_q gentle(0 or 1), not $param(red)"
    }
    # In packets, as Floyd and Jacobson have it: no spacing by bytes, no waiting between drops.
    foreach {name value} {bytes_ false queue_in_bytes_ false wait_ false adaptive_ 0} {
        Queue/RED set $name $value
    }
    foreach name {thresh_ maxthresh_ q_weight_ gentle_} index {0 1 3 4} {
        Queue/RED set $name [lindex $param(red) $index]
    }
    Queue/RED set linterm_ [expr {1.0 / [lindex $param(red) 2]}]
    Queue/RED set mean_pktsize_ [expr {$param(size) + 40}]
    $ns simplex-link $r1 $r2 $param(rate) ${far_ms}ms RED
} else {
    $ns simplex-link $r1 $r2 $param(rate) ${far_ms}ms DropTail
}
$ns simplex-link $r2 $r1 $param(rate) ${far_ms}ms DropTail
$ns queue-limit $r1 $r2 $param(queue)
$ns queue-limit $r2 $r1 100000
set bottleneck [$ns link $r1 $r2]

for {set i 0} {$i < $param(flows)} {incr i} {
    set src($i) [$ns node]
    set dst($i) [$ns node]
    foreach {a b} [list $src($i) $r1 $r2 $dst($i)] {
        $ns duplex-link $a $b $param(access-rate) $param(access-ms)ms DropTail
        $ns queue-limit $a $b 100000
        $ns queue-limit $b $a 100000
    }
}

if {$trace_file eq "" && $param(trace) ne ""} {
    set trace_file [open $param(trace) w]
    $bottleneck trace $ns $trace_file
    [$ns link $r2 $r1] trace $ns $trace_file
}

set monitor [$ns monitor-queue $r1 $r2 "" 1000000]

# ---- losses ---------------------------------------------------------------------------------------------------

# An error model of ns-2 counts the packets that pass it, from 0. On the far side of the link (after) that is the
# order in which packets were transmitted; ns-2's own `lossmodel` would put it before the queue.
set channel ""
if {$param(losses) ne ""} {
    set channel [new ErrorModel/List]
    eval $channel droplist $param(losses)
} elseif {$param(loss-rate) > 0} {
    set channel [new ErrorModel]
    set rng [new RNG]
    stir $rng $param(loss-seed)
    set uniform [new RandomVariable/Uniform]
    $uniform use-rng $rng
    $channel set rate_ $param(loss-rate)
    $channel ranvar $uniform
}
if {$channel ne ""} {
    $channel unit pkt
    if {$param(loss-place) eq "after"} {
        $bottleneck install-error $channel
    } else {
        $bottleneck errormodule $channel
    }
    # Corrupted packets must not reach the link's own drop counter, which is for the queue.
    if {$trace_file ne ""} {
        set corrupted [$ns create-trace Drop $trace_file $r1 $r2]
        $corrupted target [new Agent/Null]
        $channel drop-target $corrupted
    } else {
        $channel drop-target [new Agent/Null]
    }
}

# ---- protocols ------------------------------------------------------------------------------------------------

array set tcp_class {reno Reno newreno Newreno sack Sack1 vegas Vegas}
for {set i 0} {$i < $param(flows)} {incr i} {
    if {$param(protocol) eq "tfrc"} {
        set agent($i) [new Agent/TFRC]
        set sink($i) [new Agent/TFRCSink]
        $agent($i) set packetSize_ $param(size)
        $agent($i) set overhead_ $param(overhead)
        $agent($i) set printStatus_ $param(status)
        set wire [expr {$param(size) + [$agent($i) set headersize_]}]
    } else {
        if {$param(protocol) eq "tahoe"} {
            set agent($i) [new Agent/TCP]
        } else {
            set agent($i) [new Agent/TCP/$tcp_class($param(protocol))]
        }
        set kind $param(sink)
        if {$param(protocol) eq "sack" && $kind eq "TCPSink"} {
            set kind TCPSink/Sack1
        }
        set sink($i) [new Agent/$kind]
        $agent($i) set packetSize_ $param(size)
        $agent($i) set window_ $param(window)
        $agent($i) set tcpTick_ $param(tick)
        $agent($i) set minrto_ $param(minrto)
        $agent($i) set overhead_ $param(overhead)
        # Vegas has a transmission routine of its own, which adds no headers, and its SYN is as long as any packet.
        set headers [expr {$param(protocol) eq "vegas" ? 0 : 40}]
        set wire [expr {$param(size) + $headers}]
        set syn [expr {$param(protocol) eq "vegas" ? $param(size) : 40}]
    }
    foreach {name value} $param(set) {
        $agent($i) set $name $value
    }
    $agent($i) set fid_ $i
    $ns attach-agent $src($i) $agent($i)
    $ns attach-agent $dst($i) $sink($i)
    $ns connect $agent($i) $sink($i)
    set start [lindex $param(starts) $i]
    if {$param(protocol) eq "tfrc"} {
        $ns at $start "$agent($i) start"
    } else {
        set ftp($i) [new Application/FTP]
        $ftp($i) attach-agent $agent($i)
        $ns at $start "$ftp($i) start"
    }
}

# Packets at a constant rate on the last link to each receiver: data arrives with a delay that differs from packet to packet.
if {$param(cross-rate) > 0} {
    for {set i 0} {$i < $param(flows)} {incr i} {
        set udp [new Agent/UDP]
        set null [new Agent/Null]
        $udp set packetSize_ $param(cross-bytes)
        $ns attach-agent $r2 $udp
        $ns attach-agent $dst($i) $null
        $ns connect $udp $null
        set cross [new Application/Traffic/CBR]
        $cross set packetSize_ $param(cross-bytes)
        $cross set rate_ $param(cross-rate)
        $cross attach-agent $udp
        $ns at 0.0 "$cross start"
    }
}

# ---- measurements ---------------------------------------------------------------------------------------------

# Distinct payload packets of flow i that its sink has passed on in order. TCPSink counts wire bytes and takes the
# SYN for data; TFRC never sends a packet twice.
proc delivered {i} {
    global sink param wire syn
    set bytes [$sink($i) set bytes_]
    if {$param(protocol) ne "tfrc" && $bytes > 0} {
        set bytes [expr {$bytes - $syn}]
    }
    return [expr {round(double($bytes) / $wire)}]
}

proc at_warmup {} {
    global param delivered_before monitor drops_before
    for {set i 0} {$i < $param(flows)} {incr i} {
        set delivered_before($i) [delivered $i]
    }
    set drops_before [$monitor set pdrops_]
}

proc sample {} {
    global ns param agent sample_file
    for {set i 0} {$i < $param(flows)} {incr i} {
        set line "[$ns now] $i"
        if {$param(protocol) eq "tfrc"} {
            append line " rate_Bps [$agent($i) set rate_] loss [$agent($i) set true_loss_rate_] sent [$agent($i) set ndatapack_]"
        } else {
            foreach name {cwnd_ ssthresh_ srtt_ rttvar_ backoff_ ack_ t_seqno_ nrexmit_} {
                append line " $name [$agent($i) set $name]"
            }
        }
        puts $sample_file $line
    }
    $ns after $param(every) sample
}

# One line `name value…` per measurement; lists have one entry per flow.
proc finish {} {
    global ns param agent monitor delivered_before drops_before
    $ns halt
    foreach name {delivered sent timeouts} {
        set $name {}
    }
    for {set i 0} {$i < $param(flows)} {incr i} {
        lappend delivered [expr {[delivered $i] - $delivered_before($i)}]
        lappend sent [$agent($i) set ndatapack_]
        if {$param(protocol) ne "tfrc"} {
            lappend timeouts [$agent($i) set nrexmit_]
        }
    }
    puts "delivered $delivered"
    puts "sent $sent"
    puts "timeouts $timeouts"
    puts "queue_drops [expr {[$monitor set pdrops_] - $drops_before}]"
    puts "transmitted [$monitor set pdepartures_]"
}

if {$param(sample) ne ""} {
    set sample_file [open $param(sample) w]
    $ns at 0.0 sample
}
$ns at $param(warmup) at_warmup
$ns at $param(duration) finish
$ns run
