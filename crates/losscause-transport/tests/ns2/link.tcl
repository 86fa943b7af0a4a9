# One TCP agent over one link in ns-2.35, for comparison with our sender transmission by transmission.
#
#   ns link.tcl KEY=VALUE … > NAME.txt                       makes a recording
#   ns link.tcl $(sed -n 's/^# //p' NAME.txt) | diff NAME.txt -      repeats it
#
# `lose` holds the indices of the packets that are lost after their transmission, in ascending order; `set` holds
# variables of the agent, NAME:VALUE,NAME:VALUE.
# Output: the settings, the totals, then
#   send SECONDS SEQ        the sender transmits
#   drop SECONDS SEQ        the queue is full
#   cwnd SECONDS PACKETS    the sender's window shrinks

array set param {
    agent Reno  set ""
    rate_bps 800000  delay_ms 20  queue_pkts 20  duration_s 20  lose ""  seed 99999999
    window 20  tick_s 0.01  minrto_s 0.2  init_rto_s 3  sink TCPSink  syn 1  iw 2  limited 1  headers 1  precise 1
}
foreach setting $argv {
    set at [string first = $setting]
    set key [string range $setting 0 [expr {$at - 1}]]
    if {$at < 1 || ![info exists param($key)]} {
        puts stderr "link.tcl: \"$setting\" is not KEY=VALUE with KEY one of [lsort [array names param]]"
        exit 2
    }
    set param($key) [string range $setting [expr {$at + 1}] end]
}
foreach key [lsort [array names param]] {
    puts "# $key=$param($key)"
}

# The draw with which the agent places its clock's ticks when ns-2 starts to run.
set twin [new RNG]
$twin seed $param(seed)
puts "tick_offset_s [format %.9f [$twin uniform 0 $param(tick_s)]]"

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to $param(rate_bps) $param(delay_ms)ms DropTail
$ns queue-limit $from $to $param(queue_pkts)
$ns queue-limit $to $from 1000000
if {$param(lose) ne ""} {
    set errors [new ErrorModel/List]
    $errors unit pkt
    $errors droplist [split $param(lose) ,]
    $ns link-lossmodel $errors $from $to
    # Not the link's own, so that the trace of drops is the queue's alone.
    $errors drop-target [new Agent/Null]
}

set tcp [new Agent/TCP/$param(agent)]
$tcp set tcpTick_ $param(tick_s)
$tcp set window_ $param(window)
$tcp set minrto_ $param(minrto_s)
$tcp set rtxcur_init_ $param(init_rto_s)
$tcp set syn_ $param(syn)
$tcp set delay_growth_ $param(syn)
$tcp set windowInit_ $param(iw)
$tcp set singledup_ $param(limited)
$tcp set useHeaders_ $param(headers)
$tcp set precisionReduce_ $param(precise)
foreach setting [split $param(set) ,] {
    eval $tcp set [split $setting :]
}
set sink [new Agent/$param(sink)]
$ns attach-agent $from $tcp
$ns attach-agent $to $sink
$ns connect $tcp $sink
set source [new Application/FTP]
$source attach-agent $tcp

set queue_trace_name "/tmp/losscause-queue-[pid].tr"
set queue_trace [open $queue_trace_name w]
$ns trace-queue $from $to $queue_trace
set window_trace_name "/tmp/losscause-window-[pid].tr"
set window_trace [open $window_trace_name w]
$tcp attach $window_trace
$tcp trace cwnd_

proc print_links {name} {
    set file [open $name]
    while {[gets $file line] >= 0} {
        switch [lindex $line 0] {
            + { puts "send [lindex $line 1] [lindex $line 10]" }
            d { puts "drop [lindex $line 1] [lindex $line 10]" }
        }
    }
    close $file
}

# What the window is at the end of an instant counts, not what it passes through.
proc print_windows {name} {
    set file [open $name]
    set at 0
    set cwnd 0
    set before 0
    while {[gets $file line] >= 0} {
        if {[lindex $line 0] ne $at} {
            if {$cwnd < $before} { puts "cwnd $at $cwnd" }
            set at [lindex $line 0]
            set before $cwnd
        }
        set cwnd [lindex $line end]
    }
    if {$cwnd < $before} { puts "cwnd $at $cwnd" }
    close $file
}

proc finish {} {
    global ns tcp queue_trace queue_trace_name window_trace window_trace_name
    close $queue_trace
    close $window_trace
    puts "segments [$tcp set ndatapack_]"
    puts "retransmissions [$tcp set nrexmitpack_]"
    puts "timeouts [$tcp set nrexmit_]"
    print_links $queue_trace_name
    print_windows $window_trace_name
    file delete $queue_trace_name $window_trace_name
    $ns halt
}
$ns at 0 "$source start"
$ns at $param(duration_s) finish
$defaultRNG seed $param(seed)
$ns run
