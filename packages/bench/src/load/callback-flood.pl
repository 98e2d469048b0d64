#!/usr/bin/perl
# A fake ansible-playbook that emits one-line events in the format of the callback plugin. In Perl: a hundred of these processes wake up
# 20 times a second on the measured machine, and a wake-up costs a quarter of one in Node or Python.
# Files beside it: `flood` (number of events, and events per second; 0: unlimited) and `go` (exists once it may start).
use strict;
use warnings;
use File::Basename qw(dirname);
use Time::HiRes qw(sleep time);

my $LINES_PER_WAKE = 5;
if (grep { $_ eq '--version' } @ARGV) {
    print "ansible-playbook [core 2.19.0]\n";
    exit;
}
my $dir = dirname($0);
open(my $settings, '<', "$dir/flood") or die $!;
my ($events, $rate) = split(' ', <$settings>);
open(my $out, '>>&=', $ENV{MUSTER_EVENTS_FD}) or die $!;

sub say_all {
    my ($text) = @_;
    while (length $text) {
        my $written = syswrite($out, $text);
        if (defined $written) { substr($text, 0, $written, '') }
        else { sleep(0.001) }
    }
}
sub event { my ($fields) = @_; return sprintf("{\"t\":%.3f,%s}\n", time(), $fields) }

say_all(event('"kind":"play_start","play":"flood"') . event('"kind":"task_start","play":"flood","task":"say","uuid":"u"'));
sleep(0.05) until -e "$dir/go";
my $began = time();
for (my $sent = 0 ; $sent < $events ;) {
    my $due = $rate ? int((time() - $began) * $rate) : $sent + 200;
    $due = $events if $due > $events;
    my $text = '';
    for (; $sent < $due ; $sent++) {
        $text .= event('"kind":"ok","host":"node1","play":"flood","task":"say","uuid":"u","stdout":"ok: [node1] => line ' . $sent . '"');
    }
    say_all($text);
    sleep($LINES_PER_WAKE / $rate > 0.002 ? $LINES_PER_WAKE / $rate : 0.002) if $rate;
}
my $figures = "\"ok\":$events,\"failures\":0,\"unreachable\":0,\"changed\":0,\"skipped\":0,\"rescued\":0,\"ignored\":0";
say_all(event("\"kind\":\"stats\",\"hosts\":{\"node1\":{$figures}}"));
